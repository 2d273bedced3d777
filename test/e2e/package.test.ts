import { mkdirSync, readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { PROJECT, useSandboxes } from '../support/cli/cli-sandbox.js'

const newSandbox = useSandboxes()
/** What a clone has when it is packed: the sources too, which tell that the build is not outdated. */
const CLONE = ['bin', 'dist', 'fixtures', 'src', 'LICENSE', 'oclif.manifest.json', 'package-lock.json', 'package.json']
CLONE.push('README.md', 'tsconfig.json')

describe('npm pack', () => {
  it('makes a package without a prepare script that runs by itself, and leaves package.json as it was', async () => {
    const sandbox = newSandbox()
    const clone = sandbox.path('clone')
    mkdirSync(clone)
    // With the times of folders too, so that nothing is built.
    const script = [
      `(cd '${PROJECT}' && cp -a ${CLONE.join(' ')} '${clone}')`,
      '(cd clone && npm pack --silent --offline --pack-destination ..)',
      'tar xzf klines-*.tgz',
    ]
    const packed = await sandbox.shell(script.join(' && '))
    expect(packed.code, packed.stderr).toBe(0)
    expect(packed.stderr).toBe('')
    expect(readFileSync(join(clone, 'package.json'), 'utf8')).toBe(readFileSync(join(PROJECT, 'package.json'), 'utf8'))

    const { scripts } = JSON.parse(sandbox.text('package/package.json')) as { scripts: Record<string, string> }
    expect(Object.keys(scripts).filter(name => /^(pre|post)?(prepare|install|publish)$/.test(name))).toEqual([])
    symlinkSync(join(PROJECT, 'node_modules'), sandbox.path('package/node_modules'))
    const run = (...args: string[]) => sandbox.node([sandbox.path('package/bin/run.js'), ...args])
    expect((await run('--help')).stdout).toMatch(/^Download, verify, export and serve/)
    const download = ['download', 'BTCUSDT', '-i', '1d', '--base-url', 'sample', '-o', 'btcusdt.csv']
    expect(await run(...download)).toMatchObject({ code: 0 })
    expect(sandbox.text('btcusdt.csv').split('\n').length).toBe(93)
  })
})
