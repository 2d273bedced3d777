import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { ROOT } from '../support/imports.js'

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
