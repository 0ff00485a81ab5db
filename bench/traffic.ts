import { BSON, type CommandStartedEvent, type MongoClient } from 'mongodb';

/** What went to MongoDB, apart from the beats of the worker registry. */
export interface Traffic {
  /** Commands by name. */
  readonly commands: Readonly<Record<string, number>>;
  readonly documents: number;
  /** BSON bytes of commands and answers. */
  readonly bytes: number;
}

/** Counts the commands of a client that was opened with `monitorCommands`. */
export class TrafficCount {
  #commands: Record<string, number> = {};
  #documents = 0;
  #bytes = 0;
  readonly #beats = new Set<number>();

  constructor(client: MongoClient) {
    client.on('commandStarted', (event) => {
      if (isBeat(event)) {
        this.#beats.add(event.requestId);
        return;
      }
      this.#commands[event.commandName] = (this.#commands[event.commandName] ?? 0) + 1;
      this.#documents += (event.command['ops'] as unknown[] | undefined)?.length ?? 0;
      this.#bytes += BSON.calculateObjectSize(event.command);
    });
    client.on('commandSucceeded', ({ requestId, reply }) => {
      if (!this.#beats.delete(requestId)) this.#bytes += BSON.calculateObjectSize(reply as BSON.Document);
    });
  }

  /** What was counted since the last time. */
  take(): Traffic {
    const taken = { commands: this.#commands, documents: this.#documents, bytes: this.#bytes };
    this.#commands = {};
    this.#documents = 0;
    this.#bytes = 0;
    return taken;
  }
}

const isBeat = ({ command }: CommandStartedEvent): boolean => command['update'] === 'workers';
