import { describe, expect, it } from '@jest/globals';
import { AgentNotFoundError, UsageError } from '../../../src/contract/errors.ts';
import { newestFirst, selectAgent } from '../../../src/pins/select.ts';
import { agentOf } from '../../support/sealing.ts';

const entry = (version: string, name = 'triage') => ({ name, version, digest: `sha256:${version}`, at: '' });
const published = ['1.0.0', '1.10.0', '1.9.0', '2.0.0-rc.1', '1.2.3'].map((version) => entry(version));
const config = [agentOf({ version: '1.3.0' }), agentOf({ name: 'other', version: '0.1.0-beta' })];

/** The version that is selected, with a `!` where it is the config's. */
function selected(wanted: string, agents = config, versions = published): string {
  const found = selectAgent(wanted, agents, versions);
  return 'agent' in found ? `${found.agent.version}!` : found.published.version;
}

describe('selectAgent', () => {
  it.each([
    ['triage', '1.10.0'],
    ['triage@1.9.0', '1.9.0'],
    ['triage@^1.2', '1.10.0'],
    ['triage@~1.2', '1.2.3'],
    ['triage@<1.10', '1.9.0'],
    ['triage@1', '1.10.0'],
    ['triage@*', '1.10.0'],
    ['triage@2.0.0-rc.1', '2.0.0-rc.1'],
    ['triage@^2.0.0-rc.0', '2.0.0-rc.1'],
    ['triage@1.3.0', '1.3.0!'],
    ['triage@~1.3', '1.3.0!'],
    ['other', '0.1.0-beta!'],
    ['other@0.1.0-beta', '0.1.0-beta!'],
  ])('%s is %s', (wanted, version) => {
    expect(selected(wanted)).toBe(version);
  });

  it('P2: takes a published version before the same one of the config', () => {
    expect(selected('triage@1.9.0', [agentOf({ version: '1.9.0' })])).toBe('1.9.0');
    expect(selected('triage', [agentOf({ version: '1.10.0' })])).toBe('1.10.0');
  });

  it('takes the config’s own version where it is newer, or none is published', () => {
    expect(selected('triage', [agentOf({ version: '1.11.0' })])).toBe('1.11.0!');
    expect(selected('triage', config, [])).toBe('1.3.0!');
  });

  it.each(['triage@^3', 'triage@1.2.4', 'triage@^2'])('names the versions there are where none is %s', (wanted) => {
    expect(() => selected(wanted)).toThrow(AgentNotFoundError);
    expect(() => selected(wanted)).toThrow(/triage@2\.0\.0-rc\.1, triage@1\.10\.0, triage@1\.9\.0, triage@1\.3\.0/);
  });

  it('names the agents there are where none has the name', () => {
    expect(() => selected('nobody')).toThrow(AgentNotFoundError);
    expect(() => selected('nobody')).toThrow(/other@0\.1\.0-beta, .*triage@1\.3\.0/);
    expect(() => selected('', [], [])).toThrow(/there is none/);
  });

  it.each(['latest', '1', '99999999999999999999.0.0', `1.0.0-${'a'.repeat(300)}`])(
    'passes over %s, which is no semantic version',
    (version) => {
      const versions = [entry(version), ...published, entry(version)];
      expect(selected('triage', config, versions)).toBe('1.10.0');
      expect(selected('triage@^1.2', config, versions)).toBe('1.10.0');
      expect(() => selected('triage', [], [entry(version)])).toThrow(AgentNotFoundError);
      expect(
        versions
          .sort(newestFirst)
          .map((one) => one.version)
          .indexOf(version),
      ).toBe(published.length);
    },
  );

  it('does not take a pre-release that nobody asked for', () => {
    expect(() => selected('triage', [], [entry('1.0.0-rc.1')])).toThrow(/there is triage@1\.0\.0-rc\.1/);
  });

  it.each(['triage@', 'triage@latest', 'triage@ '])('says what may follow the @ of %j', (wanted) => {
    expect(() => selected(wanted)).toThrow(UsageError);
  });
});
