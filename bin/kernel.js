#!/usr/bin/env node
// Compiles src/klines/kernel/assembly to WebAssembly and writes the bytes as a module, so that the kernel loads without a file.
import { writeFileSync } from 'node:fs'
import asc from 'assemblyscript/asc'

const ENTRY = 'src/klines/kernel/assembly/index.ts'
const OPTIONS = '--outFile kernel.wasm -O3 --converge --runtime stub --importMemory --use abort='

let bytes
const writeFile = (_, contents) => {
  bytes = contents
}
const { error, stderr } = await asc.main([ENTRY, ...OPTIONS.split(' ')], { writeFile })
if (error) {
  process.stderr.write(stderr.toString())
  process.exit(1)
}
writeFileSync(
  new URL('../src/klines/kernel/wasm-bytes.ts', import.meta.url),
  `// Generated from src/klines/kernel/assembly by bin/kernel.js.
/** WebAssembly, in base64. */
export const KERNEL_BYTES = '${Buffer.from(bytes).toString('base64')}'
`,
)
