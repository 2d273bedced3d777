import { describe, expect, it } from 'vitest'
import { useSandboxes } from '../support/cli/cli-sandbox.js'

const newSandbox = useSandboxes()

/** Command lines of earlier versions, and a word of what replaces them. */
const GONE: readonly [commandLine: string, instead: RegExp][] = [
  ['show BTCUSDT 1h 2025-02-10T21:00', /klines verify SYMBOL -i INTERVAL --from TIME --to TIME -v/],
  ['sql --lake lake', /duckdb -init lake\/_views\.sql/],
  ['mirror verify --repair', /klines verify .* klines download/],
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
