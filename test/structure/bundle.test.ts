import { spawnSync } from 'node:child_process'
import { cpSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { ROOT } from '../support/imports.js'
import { tempFolder } from '../support/temp-folder.js'

test('Node that built the bundle takes its compiled code as it is', () => {
  const program = `
    import './bin/v8-flags.js'
    import { loadBundle } from './bin/load-bundle.js'
    process.stdout.write(String(loadBundle().script.cachedDataRejected))`
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '--eval', program], {
    cwd: ROOT,
    encoding: 'utf8',
  })
  expect([stdout, stderr]).toEqual(['false', ''])
})

test.each([
  ['of another text', 'bundle.cjs'],
  ['made by another program', 'bundle.cjs.cache'],
])('compiled code %s is left alone: V8 itself would take it, and crash', (_, name) => {
  const folder = tempFolder()
  for (const part of ['bin', 'dist/bundle.cjs', 'dist/bundle.cjs.cache', 'package.json']) {
    cpSync(join(ROOT, part), join(folder, part), { recursive: true })
  }
  const program = `
    import './bin/v8-flags.js'
    import { loadBundle } from './bin/load-bundle.js'
    const { script, run } = loadBundle()
    process.stdout.write([script.cachedDataRejected, typeof run].join())`
  const load = () => spawnSync(process.execPath, ['--input-type=module', '--eval', program], { cwd: folder }).stdout
  expect(String(load())).toBe('false,function')
  const path = join(folder, 'dist', name)
  const bytes = readFileSync(path)
  // A digit of the digest, or of what the key says.
  bytes[20] ^= 1
  writeFileSync(path, bytes)
  expect(String(load())).toBe(',function')
})

test('under other flags of V8 it is compiled again, and does the same', () => {
  const program = `
    import { loadBundle } from './bin/load-bundle.js'
    const { script, run } = loadBundle()
    await run(['mirror', 'path'], process.cwd())
    process.exitCode = script.cachedDataRejected ? 0 : 7`
  const run = (args: string[]) => spawnSync(process.execPath, args, { cwd: ROOT, encoding: 'utf8' })
  const other = run(['--no-lazy', '--no-opt', '--input-type=module', '--eval', program])
  expect(other.status).toBe(0)
  expect(other.stdout).toBe(run(['bin/run.js', 'mirror', 'path']).stdout)
})

test('every command is in it', () => {
  const { commands } = JSON.parse(readFileSync(join(ROOT, 'oclif.manifest.json'), 'utf8'))
  const text = readFileSync(join(ROOT, 'src/main.ts'), 'utf8')
  const loaded = [...text.matchAll(/^ {2}'?([a-z:-]+)'?: \(\) => import\('\.\/commands\/(.*)\.js'\),$/gm)]
  expect(loaded.map(([, id]) => id)).toEqual(Object.keys(commands).toSorted())
  for (const [, id, file] of loaded) expect(file.replaceAll('/', ':')).toBe(id)
})
