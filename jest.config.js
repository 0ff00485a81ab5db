/** @type {import('jest').Config} */
const shared = {
  testEnvironment: '<rootDir>/test/setup/environment.js',
  extensionsToTreatAsEsm: ['.ts'],
  transform: {
    '^.+\\.ts$': [
      '@swc/jest',
      { jsc: { parser: { syntax: 'typescript' }, target: 'es2024' }, module: { type: 'es6' }, sourceMaps: 'inline' },
    ],
  },
  testEnvironmentOptions: { customExportConditions: ['apomesh:source', 'node', 'node-addons'] },
  modulePathIgnorePatterns: ['<rootDir>/dist/', '<rootDir>/.apomesh/'],
};

/** @type {import('jest').Config} */
export default {
  maxWorkers: 2,
  testTimeout: 60_000,
  testSequencer: '<rootDir>/test/setup/sequencer.js',
  reporters: ['default', '<rootDir>/test/setup/counts-reporter.js'],
  projects: [
    { ...shared, displayName: 'unit', testMatch: ['<rootDir>/test/unit/**/*.test.ts'] },
    {
      ...shared,
      displayName: 'served',
      globalSetup: '<rootDir>/test/setup/global-setup.ts',
      globalTeardown: '<rootDir>/test/setup/global-teardown.ts',
      testMatch: ['<rootDir>/test/**/*.test.ts'],
      testPathIgnorePatterns: ['/node_modules/', '<rootDir>/test/unit/'],
    },
  ],
};
