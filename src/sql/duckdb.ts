import { createRequire } from 'node:module'
import type * as DuckDB from '@duckdb/node-api'
import { KlinesError } from '../klines/errors.js'

/** The package is an optional peer: 70 MB that only `klines sql` needs. */
const PACKAGE = '@duckdb/node-api'

// The package is CommonJS in some 180 files: the loader of ES modules takes twice as long for them.
const require = createRequire(import.meta.url)

/** Loads DuckDB. Throws `duckdb_missing` when it is not installed, or has no build for this machine. */
export function loadDuckDB(): typeof DuckDB {
  try {
    const duckdb: typeof DuckDB = require(PACKAGE)
    // Its texts of times are in the zone of this machine otherwise.
    duckdb.DuckDBTimestampTZValue.timezoneOffsetInMinutes = 0
    return duckdb
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException
    const isMissing = code === 'ERR_MODULE_NOT_FOUND' || code === 'MODULE_NOT_FOUND'
    const [reason] = isMissing ? ['it is not installed'] : message.split('\n')
    throw new KlinesError('duckdb_missing', `klines sql needs DuckDB, the package ${PACKAGE}: ${reason}.`, {
      cause,
      suggestions: [
        `Install it beside klines: npm install ${PACKAGE}`,
        `If klines is installed globally: npm install -g ${PACKAGE}`,
      ],
    })
  }
}
