/**
 * The folder says where code may run. Each room lists all that it may import; whatever else it imports is an error.
 * `types` may be imported as types only, for they are gone when the code runs.
 */
const pure = ['session', 'determinism', 'agent', 'contract'];
const overPorts = [...pure, 'ports'];

const rooms = [
  {
    room: 'session',
    rooms: ['determinism'],
    packages: ['zod', 'canonicalize', '@noble/hashes'],
    why: 'the fold and the keys must give the same bytes in Node, in the workflow sandbox and in a browser',
  },
  {
    room: 'determinism',
    rooms: ['session'],
    packages: ['zod', 'canonicalize', '@noble/hashes'],
    why: 'seeds and draws must give the same bytes in Node and in the workflow sandbox',
  },
  {
    room: 'agent',
    rooms: ['session', 'contract'],
    packages: ['zod', '@temporalio/common'],
    why: "the agent's loop is one state machine that runs in an activity and in the workflow sandbox alike",
  },
  {
    room: 'contract',
    rooms: ['session', 'agent'],
    packages: ['zod', '@temporalio/common'],
    why: 'both ends of a process boundary load it, the workflow sandbox among them',
  },
  {
    room: 'ports',
    types: ['session', 'agent', 'contract'],
    typePackages: ['@ai-sdk/provider'],
    why: 'a port is an interface: anything that runs belongs behind it',
  },
  {
    room: 'stores/mongo',
    rooms: overPorts,
    files: ['src/stores/[^/]+\\.ts'],
    packages: ['mongodb'],
    node: true,
    why: 'an adapter knows its database and the ports, and no one who uses it',
  },
  {
    room: 'stores/memory',
    rooms: overPorts,
    files: ['src/stores/[^/]+\\.ts'],
    node: true,
    why: 'it stands in for a database without one',
  },
  {
    room: 'journal',
    rooms: overPorts,
    packages: ['zod'],
    node: true,
    why: 'the effect protocol is over ports, so that it is the same over any store and with any tool',
  },
  {
    room: 'pins',
    rooms: overPorts,
    packages: ['zod', 'semver', 'yaml'],
    node: true,
    why: 'sealing and opening is over ports',
  },
  {
    room: 'runtime',
    rooms: overPorts,
    packages: ['zod'],
    node: true,
    why: "a program's process loads no store and no worker",
  },
  { room: 'recovery', rooms: [...overPorts, 'pins'], node: true, why: 'the boot scan is over ports' },
  {
    room: 'models',
    rooms: overPorts,
    packages: ['zod', 'ai', '@ai-sdk/provider', '@ai-sdk/provider-utils', 'ms', '@temporalio/common'],
    node: true,
    why: 'the AI SDK stays behind the port',
  },
  {
    room: 'tools',
    rooms: overPorts,
    packages: ['zod', 'ajv', 'ms', '@modelcontextprotocol/sdk', '@temporalio/common'],
    node: true,
    why: 'MCP stays behind the port',
  },
  {
    room: 'services',
    rooms: ['session', 'contract'],
    files: ['src/stores/mongo/(ping|initiate)'],
    packages: ['@temporalio/client', 'mongodb-memory-server-core'],
    node: true,
    why: 'it finds and starts servers and knows nothing of what is kept in them',
  },
  {
    room: 'plugin',
    rooms: [...overPorts, 'stores', 'journal', 'pins', 'runtime', 'recovery', 'models', 'tools'],
    files: ['activities/', 'src/client/', 'src/(index|workflow|testing)\\.ts'],
    packages: [
      'zod',
      'ms',
      'jiti',
      '@ai-sdk/provider',
      ...['activity', 'client', 'common', 'plugin', 'worker'].map((name) => `@temporalio/${name}`),
    ],
    node: true,
    why: 'the composition root knows every room but the workflows, which are bundled from their path',
  },
  {
    room: 'crash',
    rooms: [...overPorts, 'stores', 'journal', 'recovery', 'models', 'tools', 'plugin', 'client'],
    files: ['activities/', 'workflows/'],
    packages: ['@ai-sdk/provider', '@temporalio/activity', '@temporalio/common'],
    node: true,
    why: 'it plays the whole product without servers, and nothing of the product knows it',
  },
  {
    room: 'client',
    rooms: ['session', 'agent', 'contract', 'ports', 'plugin'],
    packages: ['zod', '@temporalio/client', '@temporalio/common'],
    node: true,
    why: "a way in sees the contract, the log and the plugin's public face",
  },
  {
    room: 'cli',
    rooms: ['session', 'agent', 'contract', 'ports', 'plugin', 'client', 'services'],
    packages: ['zod', 'commander', 'jiti', '@temporalio/client', '@temporalio/common', '@temporalio/worker'],
    node: true,
    why: 'commands are a thin layer over the client, the plugin and the services',
  },
];

const escaped = (text) => text.replaceAll(/[.*+?^${}()|[\]\\/]/g, '\\$&');
const inRooms = (names = []) => names.map((name) => `^src/${escaped(name)}/`);
const inPackages = (names = []) => names.map((name) => `node_modules/${escaped(name)}/`);

/** All that a room imports beyond its row, when it runs and as types. */
const rulesOf = ({ room, why, node = false, files = [], rooms: used, packages, types, typePackages }) => {
  const at = [`^src/${escaped(room)}/`, ...inRooms(used), ...inPackages(packages), ...files.map((file) => `^${file}`)];
  const name = room.replace('/', '-');
  const builtins = node ? { dependencyTypesNot: ['core'] } : {};
  return [
    {
      name: `room-${name}`,
      comment: `src/${room} may import its row of the table only: ${why}.`,
      severity: 'error',
      from: { path: `^src/${escaped(room)}/` },
      to: { pathNot: [...at, ...inRooms(types), ...inPackages(typePackages)], ...builtins },
    },
    ...(types === undefined
      ? []
      : [
          {
            name: `room-${name}-types`,
            comment: `src/${room} may import types only: ${why}.`,
            severity: 'error',
            from: { path: `^src/${escaped(room)}/` },
            to: { path: [...inRooms(types), ...inPackages(typePackages)], dependencyTypesNot: ['type-only'] },
          },
        ]),
  ];
};

/** @type {import('dependency-cruiser').IConfiguration} */
export default {
  forbidden: [
    ...rooms.flatMap(rulesOf),
    {
      name: 'room-stores',
      comment: 'what the adapters share knows none of them.',
      severity: 'error',
      from: { path: '^src/stores/[^/]+\\.ts$' },
      to: { pathNot: ['^src/stores/[^/]+\\.ts$', ...inRooms(overPorts)], dependencyTypesNot: ['core'] },
    },
    {
      name: 'room-workflows',
      comment:
        'workflows run in the sandbox: they may load the pure rooms and the workflow SDK, nothing that does I/O.',
      severity: 'error',
      from: { path: '^workflows/' },
      to: {
        pathNot: [
          '^workflows/',
          '^activities/',
          ...inRooms(pure),
          ...inPackages(['@temporalio/workflow', '@temporalio/common', 'zod']),
        ],
      },
    },
    {
      name: 'room-workflows-activities',
      comment: 'activities run elsewhere: a workflow knows their types and calls them by proxy.',
      severity: 'error',
      from: { path: '^workflows/' },
      to: { path: '^activities/', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'room-activities',
      comment: 'activities are a factory over ports: adapters are handed to them by the plugin.',
      severity: 'error',
      from: { path: '^activities/' },
      to: {
        pathNot: [
          '^activities/',
          ...inRooms([...overPorts, 'stores', 'journal', 'pins', 'runtime', 'recovery', 'models', 'tools']),
          ...inPackages(['@temporalio/activity', '@temporalio/common', '@ai-sdk/provider', 'lru-cache', 'zod']),
        ],
        dependencyTypesNot: ['core'],
      },
    },
    {
      name: 'entry-workflow',
      comment: 'a workflow bundle loads `apomesh/workflow`: what it reaches must be fit for the sandbox.',
      severity: 'error',
      from: { path: '^src/workflow\\.ts$' },
      to: { pathNot: ['^workflows/', ...inRooms(pure), ...inPackages(['@temporalio/workflow'])] },
    },
    {
      name: 'workflows-by-path',
      comment:
        'workflows are bundled from a path; loading them into a worker or client would run them outside the sandbox. Crash schedules do just that.',
      severity: 'error',
      from: { path: '^(src|activities)/', pathNot: '^src/(workflow\\.ts$|crash/)' },
      to: { path: '^workflows/', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'mongodb-in-one-place',
      comment: 'only src/stores/mongo knows the driver, so that another store is another folder.',
      severity: 'error',
      from: { path: '^(src|workflows|activities)/', pathNot: '^src/stores/mongo/' },
      to: { path: inPackages(['mongodb']) },
    },
    {
      name: 'no-circular',
      comment: 'in a cycle neither file can be read, tested or moved alone.',
      severity: 'error',
      from: {},
      to: { circular: true, viaOnly: { dependencyTypesNot: ['type-only', 'dynamic-import'] } },
    },
    {
      name: 'not-to-dev',
      comment: 'what ships may not need what is only there to build and test it.',
      severity: 'error',
      from: { path: '^(src|workflows|activities)/' },
      to: { path: '^(test|bench|examples)/' },
    },
    {
      name: 'declared-dependencies',
      comment: 'what ships may only import packages that its users get: dependencies and peers.',
      severity: 'error',
      from: { path: '^(src|workflows|activities)/' },
      to: {
        dependencyTypes: ['npm-dev', 'npm-no-pkg', 'npm-unknown'],
        dependencyTypesNot: ['npm', 'npm-peer', 'type-only'],
      },
    },
    {
      name: 'resolvable',
      comment: 'an import that leads nowhere fails only when it runs.',
      severity: 'error',
      from: {},
      to: { couldNotResolve: true },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    detectProcessBuiltinModuleCalls: true,
    enhancedResolveOptions: {
      conditionNames: ['apomesh:source', 'import', 'node', 'default', 'types'],
      exportsFields: ['exports'],
    },
  },
};
