import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { goneCommand } from '../../src/cli/gone.js'
import { PROJECT, useSandboxes } from '../support/cli/cli-sandbox.js'

const newSandbox = useSandboxes()

/** Command lines of earlier versions, and a word of what replaces them. */
const GONE: readonly [commandLine: string, instead: RegExp][] = [
  ['users update x --data user.json', /--email/],
  ['fingerprint x.csv --series BTCUSDT/1h', /BTCUSDT-1h\.csv/],
  ['export BTCUSDT -i 4h --derive', /-i 1h --resample 3h/],
  ['show BTCUSDT 1h 2025-02-10T21:00', /klines verify SYMBOL -i INTERVAL --from TIME --to TIME -v/],
  ['export BTCUSDT -i 1d --layout hive -o lake --table delta', /_README\.md/],
  ['export BTCUSDT -i 1d --layout hive -o lake --vacuum 7d', /_README\.md/],
  ['sql --lake lake', /duckdb -init lake\/_views\.sql/],
  ['update lake/', /writes only what changed/],
  ['download BTCUSDT -i 1h --accept-list', /try again/],
  ['download BTCUSDT -i 1h --fail-on-restated', /klines download --lock/],
  ['export BTCUSDT -i 1d -f svg', /^klines: --format=svg .*klines chart/],
  ['export BTCUSDT -i 1d -o x.csv --theme dark --log', /^klines: --theme .* --log .*klines chart/],
  ['download BTCUSDT -i 1d -o x.csv --width 800', /klines chart/],
  ['download BTCUSDT -i 1d -o x.csv --height=400', /klines chart/],
  ['mirror list', /klines mirror shows/],
  ['mirror status', /klines mirror shows/],
  ['mirror path', /klines mirror --path/],
  ['mirror verify --repair', /klines verify .* klines download/],
  ['mirror prune --yes', /by hand/],
  ['mirror clear --yes', /klines mirror --path/],
  ['mirror changes BTCUSDT', /changes\.jsonl/],
  ['config path', /klines config shows/],
  ['config set interval 1d --local', /set variables/],
  ['download BTCUSDT -i 1d --yes', /leave it out/],
  ['export BTCUSDT -i 1d -o new/x.csv --mkdir', /are made/],
  ['download BTCUSDT -i 1d --max-rate 5', /--concurrency/],
  ['download BTCUSDT -i 1d --progress none', /-q shows none/],
  ['start-dates 1h --all', /Lists end with today/],
  ['lock BTCUSDT -i 1h --resample 3h', /Lock what the candles are made of/],
  ['help ranges', /reference\.md/],
  ['formats', /^klines: help formats .*reference\.md/],
  ['verify BTCUSDT -i 1h --audit', /always compared/],
  ['verify BTCUSDT -i 1h --no-audit', /always compared/],
  ['serve --open', /address to open/],
  ['serve --strict', /accepts every documented value/],
  ['chart BTCUSDT -i 1d --watch', /Run the command again/],
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
