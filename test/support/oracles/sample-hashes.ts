import { createHash } from 'node:crypto'
import { argv } from 'node:process'
import { pathToFileURL } from 'node:url'
import { FORMATS } from '../../../src/export/formats/format.js'
import { openExporter } from '../../../src/export/formats/open-exporter.js'
import { NUMBER_TYPES } from '../../../src/export/row-format.js'
import { batchesOf, exported, manyRows, shapeOf } from '../exporting.js'

/** The SHA-256 of the same rows in every format and with every type of number. */
export async function sampleHashes(): Promise<Record<string, string>> {
  const batches = batchesOf([manyRows(9000)])
  const hashes: Record<string, string> = {}
  for (const format of FORMATS) {
    for (const numbers of NUMBER_TYPES) {
      const { bytes } = await exported(await openExporter(format), batches, shapeOf({ numbers }))
      hashes[`${format} ${numbers}`] = createHash('sha256').update(bytes).digest('hex')
    }
  }
  return hashes
}

if (import.meta.url === pathToFileURL(argv[1] ?? '').href) console.log(JSON.stringify(await sampleHashes()))
