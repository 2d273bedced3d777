import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { goneCommand } from '../../src/cli/gone.js'
import { PROJECT, useSandboxes } from '../support/cli/cli-sandbox.js'

const newSandbox = useSandboxes()

/** Command lines of earlier versions, and a word of what replaces them. */
const GONE: readonly [commandLine: string, instead: RegExp][] = [
  ['users update x --data user.json', /--email/],
  ['export BTCUSDT -i 4h --derive', /-i 1h --resample 3h/],
  ['show BTCUSDT 1h 2025-02-10T21:00', /klines verify SYMBOL -i INTERVAL --from TIME --to TIME -v/],
  ['sql --lake lake', /duckdb -init lake\/_views\.sql/],
  ['update lake/', /writes only what changed/],
  ['export BTCUSDT -i 1d -f svg', /^klines: --format=svg .*klines chart/],
  ['mirror verify --repair', /klines verify .* klines download/],
  ['download BTCUSDT -i 1d --max-rate 5', /--concurrency/],
  ['help ranges', /reference\.md/],
]

describe('a command line of an earlier version is exit code 2 and says what replaces it', () => {
  it.each(GONE)('klines %s', async (commandLine, instead) => {
    const { code, stdout, stderr } = await newSandbox().run(commandLine.split(' '))
    expect(code).toBe(2)
    expect(stdout).toBe('')
    expect(stderr).toMatch(/ is gone\. /)
    expect(stderr).toMatch(instead)
  })
})

it('no command of today is called gone', () => {
  const { commands } = JSON.parse(readFileSync(join(PROJECT, 'oclif.manifest.json'), 'utf8'))
  const names = Object.keys(commands).map(id => id.replaceAll(':', ' '))
  expect(names).toContain('download')
  expect(names.filter(name => goneCommand([...name.split(' '), '-i']))).toEqual([])
})
