import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { tempFolder } from '../../support/temp-folder.js'

const KERNEL = 'src/rows/wasm'

test('the kernel in the repository is of its sources as they are; `npm run kernel` writes it', () => {
  const files = readdirSync(join(KERNEL, 'assembly')).sort()
  const sources = Buffer.concat(files.map(name => readFileSync(join(KERNEL, 'assembly', name))))
  const [, hash] = /SHA-256\n\/\/ ([0-9a-f]{64})/.exec(readFileSync(join(KERNEL, 'wasm-bytes.ts'), 'utf8')) ?? []
  expect(hash).toBe(createHash('sha256').update(sources).digest('hex'))
})

test('the kernel in the repository is what its sources compile to', () => {
  const compiled = join(tempFolder(), 'wasm-bytes.ts')
  execFileSync(process.execPath, ['bin/kernel.js', compiled])
  expect(readFileSync(join(KERNEL, 'wasm-bytes.ts'), 'utf8')).toBe(readFileSync(compiled, 'utf8'))
})
