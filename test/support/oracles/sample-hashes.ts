import { createHash } from 'node:crypto'
import { argv } from 'node:process'
import { pathToFileURL } from 'node:url'
import { FORMATS } from '../../../src/options/formats.js'
import { NUMBER_TYPES } from '../../../src/options/output-options.js'
import { manyRows, rowFormat, runExporter, toBatches } from '../exporting.js'

/** The SHA-256 of the same rows in every format and with every type of number. */
export async function sampleHashes(): Promise<Record<string, string>> {
  const batches = toBatches([manyRows(9000)])
  const hashes: Record<string, string> = {}
  for (const format of FORMATS) {
    for (const numbers of NUMBER_TYPES) {
      const { bytes } = await runExporter(format, batches, rowFormat({ numbers }))
      hashes[`${format} ${numbers}`] = createHash('sha256').update(bytes).digest('hex')
    }
  }
  return hashes
}

if (import.meta.url === pathToFileURL(argv[1] ?? '').href) console.log(JSON.stringify(await sampleHashes()))
