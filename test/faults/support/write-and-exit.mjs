// Writes more than a pipe holds and exits as soon as the output has finished.
import { writeFileSync } from 'node:fs'
import { StreamOutput } from '../../../dist/engine/output-stream.js'

const output = StreamOutput.to('-')
// Awaiting the first write would deadlock: the reader starts when the file `full` exists.
void output.write(Buffer.alloc(64 * 1024, '1'))
void output.write(Buffer.alloc(1_000, '2'))
writeFileSync('full', '')
await output.finish()
process.exit()
