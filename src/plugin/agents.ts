import type { PinnedAgent, PinnedTool } from '../agent/shape.ts';
import { skillToolNames } from '../agent/skill-tools.ts';
import { BodyTooLargeError, PinCorruptError } from '../contract/errors.ts';
import { SkillNotInBundleError } from '../contract/pin-errors.ts';
import { keepSealed } from '../pins/keep.ts';
import { filesOf, loadPin } from '../pins/open.ts';
import { type ResolvedStart, startFrom } from '../pins/resolve.ts';
import { type Parts, type ResolvedAgent, type ResolvedRole, type Sealed, sealAgent } from '../pins/seal.ts';
import { selectAgent, splitName } from '../pins/select.ts';
import type { PublishedEntry } from '../ports/pins.ts';
import type { Skill, SkillCatalog } from '../ports/skills.ts';
import type { Stores } from '../ports/store.ts';
import type { Durability } from '../session/envelopes.ts';
import { describeTools } from '../tools/toolset.ts';
import type { ResolvedConfig } from './config.ts';
import { inFile } from './in-file.ts';

/** So long what was stored is known to be spared by any sweep, in milliseconds: far less than the least age that one takes. */
const KNOWN_MS = 10 * 60_000;

/** So long what the tools of an agent look like is known, in milliseconds: a server may be deployed anew at any time. */
const DESCRIBED_MS = 60_000;

export type AgentStores = Pick<Stores, 'pin' | 'files' | 'keep' | 'renew' | 'published'>;
type AgentConfig = Pick<ResolvedConfig, 'agents' | 'file' | 'limits' | 'mcp' | 'tools'>;

/** Finds agents and seals them. What the tools of an agent look like is looked up at a start, and known for a minute. */
export class Agents {
  readonly #config: AgentConfig;
  readonly #stores: AgentStores;
  readonly #catalog: SkillCatalog;
  readonly #tools = new Map<string, Described>();
  /** When pins were stored, by digest. */
  readonly #kept = new Map<string, number>();

  constructor(config: AgentConfig, stores: AgentStores, catalog: SkillCatalog) {
    this.#config = config;
    this.#stores = stores;
    this.#catalog = catalog;
  }

  /**
   * What a session of an agent is started from: a published bundle as it is, an agent of the config with its tools and skills as
   * they are now (MCP servers that it takes are asked, at most once a minute). Nothing is stored.
   *
   * @param name `triage`, `triage@1.2.0` or `triage@^1.2`.
   * @param durability instead of the agent's own.
   * @throws {AgentNotFoundError} naming those there are.
   * @throws {ConfigInvalidError} where an MCP server cannot be reached or lacks a tool.
   * @throws {SkillNotInBundleError} {@link BundleTooLargeError} {@link PinCorruptError}
   */
  async resolve(name: string, durability?: Durability): Promise<ResolvedStart> {
    const { agents } = this.#config;
    const [plain] = splitName(name);
    const ofName = await this.#stores.published(plain);
    const isKnown = ofName.length > 0 || agents.some((agent) => agent.name === plain);
    const selected = selectAgent(name, agents, isKnown ? ofName : await this.#stores.published());
    if ('published' in selected) {
      const pinned = await this.#openPublished(selected.published);
      return startFrom(pinned, selected.published.digest, null, durability);
    }
    const sealed = await this.seal(selected.agent, false);
    return startFrom(sealed.pinned, sealed.pin.ref.digest, sealed, durability);
  }

  /** Stores what was sealed. */
  async keep(sealed: Sealed): Promise<void> {
    const { digest } = sealed.pin.ref;
    await this.#spared(digest, () => keepSealed(this.#stores, sealed));
  }

  /** Does what makes a sweep spare a pin and its files, unless that was done a short time ago. */
  async #spared(digest: string, work: () => Promise<void>): Promise<void> {
    const now = performance.now();
    if (now - (this.#kept.get(digest) ?? Number.NEGATIVE_INFINITY) < KNOWN_MS) return;
    await work();
    this.#kept.set(digest, now);
  }

  /** A published bundle. @throws {PinCorruptError} where a part of it is missing. */
  async #openPublished({ name, version, digest }: PublishedEntry): Promise<PinnedAgent> {
    const pinned = await loadPin(this.#stores, { digest, name, version });
    await this.#spared(digest, async () => {
      const files = filesOf(pinned);
      const digests = files.map((file) => file.digest);
      const there = await this.#stores.renew('files', digests);
      const missing = files.find((file) => !there.has(file.digest));
      if (missing === undefined) return;
      throw new PinCorruptError(digest, `without ${missing.what}, which is missing (${missing.digest})`, name, version);
    });
    return pinned;
  }

  /**
   * Seals an agent with its tools and skills as they are now. Nothing is stored.
   *
   * @param afresh whether the tools are looked up again, though they were before. Default true.
   */
  async seal(agent: ResolvedAgent, afresh = true): Promise<Sealed> {
    const roles: [string | null, ResolvedRole][] = [[null, agent], ...Object.entries(agent.roles)];
    const lists = roles.map(([, role]) => toolNamesOf(role));
    if (afresh) this.#tools.delete(JSON.stringify(lists));
    const tools = await this.#toolsOf(lists);
    const skills = await skillsOf(this.#catalog, agent, [...new Set(roles.flatMap(([, role]) => role.skills))]);
    const parts = roles.map(([name, role], i): [string | null, Parts] => [
      name,
      { tools: tools[i] ?? [], skills: role.skills.flatMap((skill) => skills.get(skill) ?? []) },
    ]);
    const [[, root] = [null, { tools: [], skills: [] }], ...others] = parts;
    const { maxBundleBytes, maxBodyBytes } = this.#config.limits;
    const sealed = sealAgent(agent, root, Object.fromEntries(others), maxBundleBytes);
    const { bytes } = sealed.pin.ref;
    if (bytes > maxBodyBytes) throw new BodyTooLargeError(`the pin of ${agent.name}`, bytes, maxBodyBytes);
    return sealed;
  }

  #toolsOf(lists: readonly (readonly string[])[]): Promise<PinnedTool[][]> {
    const key = JSON.stringify(lists);
    const now = performance.now();
    const known = this.#tools.get(key);
    if (known !== undefined && now - known.since < DESCRIBED_MS) return known.tools;
    const described = { since: now, tools: inFile(this.#config.file, describeTools(this.#config, lists)) };
    this.#tools.set(key, described);
    described.tools.catch(() => {
      if (this.#tools.get(key) === described) this.#tools.delete(key);
    });
    return described.tools;
  }
}

/** What tools look like, and when that was asked. */
interface Described {
  readonly since: number;
  readonly tools: Promise<PinnedTool[][]>;
}

/** With skills go the tools that read them. */
const toolNamesOf = ({ tools, skills }: ResolvedRole): readonly string[] =>
  skills.length === 0 ? tools : [...tools, ...skillToolNames];

async function skillsOf(
  catalog: SkillCatalog,
  { name: agent, version }: ResolvedAgent,
  names: readonly string[],
): Promise<Map<string, Skill>> {
  const found = new Map<string, Skill>();
  for (const name of names) {
    const skill = await catalog.get(name);
    if (skill === null) {
      const whole = (await catalog.list()).filter((entry) => entry.fault === null);
      const there = whole.map((entry) => entry.name);
      throw new SkillNotInBundleError(name, { agent, version, digest: null }, there);
    }
    found.set(name, skill);
  }
  return found;
}
