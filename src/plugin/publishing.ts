import type { AgentDefinition, AgentManifest } from '../agent/agent.ts';
import { AgentNotFoundError, PinCorruptError } from '../contract/errors.ts';
import { type Change, diffPins } from '../pins/diff.ts';
import { loadPin } from '../pins/open.ts';
import { type Publication, publish, verifyPublished, verifySealed } from '../pins/publish.ts';
import type { ResolvedAgent, Sealed } from '../pins/seal.ts';
import { newestFirst, selectVersion, splitName } from '../pins/select.ts';
import type { PublishedEntry } from '../ports/pins.ts';
import type { Stores } from '../ports/store.ts';
import type { Agents } from './agents.ts';
import type { ResolvedConfig } from './config.ts';
import { isManifestPath, parseManifest, readManifest } from './manifest.ts';

export type { Change, Publication };

/** A version of an agent. */
export interface AgentVersion {
  readonly name: string;
  readonly version: string;
  /** Of its pin; null where it is the config's own, which is sealed when a session of it is started. */
  readonly digest: string | null;
  /** When it was published; null as above. */
  readonly at: string | null;
}

/** Publishing agents, and looking at what is published (P2). */
export class Publishing {
  readonly #config: ResolvedConfig;
  readonly #stores: Stores;
  readonly #agents: Agents;

  constructor(config: ResolvedConfig, stores: Stores, agents: Agents) {
    this.#config = config;
    this.#stores = stores;
    this.#agents = agents;
  }

  /**
   * Publishes a manifest, or an agent of the config, under its name and version. Everything is checked before anything is stored.
   *
   * @param source a manifest, the path of one (YAML, JSON, or a module), or the name of an agent of the config.
   * @throws {VersionConflictError} where the version is published with other bytes. {@link SkillNotInBundleError}
   * {@link BundleTooLargeError} {@link ConfigInvalidError} {@link FileInvalidError} {@link AgentNotFoundError}
   */
  async publish(source: string | AgentManifest | AgentDefinition): Promise<Publication> {
    const sealed = await this.#seal(await this.#definition(source));
    await this.#stores.prepare();
    return publish(this.#stores, sealed);
  }

  /**
   * Checks that a published version is whole, and puts back what is missing or altered of it where the source makes the same bytes.
   *
   * @param source as for `publish`, and then the version that publishing it would give; else `name`, `name@version` or `name@range` of a
   * published one, which is only checked.
   */
  async verify(source: string | AgentManifest | AgentDefinition): Promise<Publication> {
    if (typeof source !== 'string' || isManifestPath(source))
      return verifySealed(this.#stores, await this.#seal(await this.#definition(source)));
    const own = this.#own(source);
    const entry = await this.#entry(own === null ? source : `${own.name}@${own.version}`);
    try {
      return await verifyPublished(this.#stores, entry);
    } catch (error) {
      if (!(error instanceof PinCorruptError) || own === null) throw error;
      const sealed = await this.#seal(own);
      if (sealed.pin.ref.digest !== entry.digest) throw error;
      return verifySealed(this.#stores, sealed);
    }
  }

  /** All versions of all agents, or of one, by name, the newest first. @throws {AgentNotFoundError} */
  async list(name?: string): Promise<AgentVersion[]> {
    const published = await this.#stores.published();
    const isPublished = new Set(published.map((each) => `${each.name}@${each.version}`));
    const own = this.#config.agents.filter((each) => !isPublished.has(`${each.name}@${each.version}`));
    const all: AgentVersion[] = [
      ...published,
      ...own.map((each) => ({ name: each.name, version: each.version, digest: null, at: null })),
    ].sort((a, b) => (a.name === b.name ? newestFirst(a, b) : a.name < b.name ? -1 : 1));
    if (name === undefined) return all;
    const found = all.filter((each) => each.name === name);
    if (found.length === 0) throw new AgentNotFoundError(name, [...new Set(all.map((each) => each.name))]);
    return found;
  }

  /** What differs between two published versions of an agent, each a version or a range. */
  async diff(name: string, before: string, after: string): Promise<Change[]> {
    const [one, other] = [await this.#entry(`${name}@${before}`), await this.#entry(`${name}@${after}`)];
    const load = (entry: PublishedEntry) => loadPin(this.#stores, entry);
    return diffPins(await load(one), await load(other));
  }

  async #definition(source: string | AgentManifest | AgentDefinition): Promise<ResolvedAgent> {
    if (typeof source !== 'string') return parseManifest(source, this.#config, null);
    if (isManifestPath(source)) return readManifest(source, this.#config);
    const own = this.#own(source);
    if (own !== null) return own;
    const available = this.#config.agents.map(({ name, version }) => `${name}@${version}`);
    throw new AgentNotFoundError(source, available, {
      where: 'in the config',
      advice: 'To publish a manifest, give its path; to check what is published, add --verify.',
    });
  }

  /** The config's agent that a name stands for; null where it has none. */
  #own(wanted: string): ResolvedAgent | null {
    return orNotFound(() => selectVersion(wanted, this.#config.agents, () => true));
  }

  async #entry(wanted: string): Promise<PublishedEntry> {
    const [name] = splitName(wanted);
    const all = await this.#stores.published();
    const ofName = all.filter((entry) => entry.name === name);
    const found = orNotFound(() => selectVersion(wanted, ofName));
    if (found !== null) return found;
    const known = (ofName.length > 0 ? ofName : all).map((entry) => `${entry.name}@${entry.version}`);
    throw new AgentNotFoundError(wanted, known, { where: 'that is published' });
  }

  #seal(agent: ResolvedAgent): Promise<Sealed> {
    return this.#agents.seal(agent);
  }
}

function orNotFound<T>(select: () => T): T | null {
  try {
    return select();
  } catch (error) {
    if (error instanceof AgentNotFoundError) return null;
    throw error;
  }
}
