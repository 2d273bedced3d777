#!/usr/bin/env node
// Compiles src/klines/kernel/assembly to WebAssembly and puts the bytes into a module, so that the core needs no file to be read.
import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import asc from 'assemblyscript/asc'

const root = fileURLToPath(new URL('..', import.meta.url))
const target = `${root}/src/klines/kernel/wasm-bytes.ts`

let wasm
const { error, stderr } = await asc.main(
  [
    'src/klines/kernel/assembly/index.ts',
    '--outFile',
    'kernel.wasm',
    '-O3',
    '--converge',
    '--runtime',
    'stub',
    '--importMemory',
    '--use',
    'abort=',
  ],
  {
    writeFile: (_, bytes) => {
      wasm = bytes
    },
  },
)
if (error) {
  process.stderr.write(stderr.toString())
  process.exit(1)
}
writeFileSync(
  target,
  `// Generated from src/klines/kernel/assembly by bin/kernel.js.
/** WebAssembly, in base64. */
export const KERNEL_BYTES = '${Buffer.from(wasm).toString('base64')}'
`,
)
