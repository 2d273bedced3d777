/** The objects that `--json` prints, as JSON Schema. Their types follow from it. */
export * from './schemas/candles.js'
export * from './schemas/checks.js'
export * from './schemas/config.js'
export * from './schemas/fingerprint.js'
export * from './schemas/mirror.js'
export * from './schemas/run.js'
export * from './schemas/service.js'
