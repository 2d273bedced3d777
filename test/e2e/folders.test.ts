import { existsSync } from 'node:fs'
import { beforeAll, describe, expect, it } from 'vitest'
import { type CliSandbox, useSandboxes } from '../support/cli/cli-sandbox.js'

const newSandbox = useSandboxes()
/** `mkdir` in a folder that is there answers "no such folder". */
const NOWHERE = '/proc/klines-test'

let sandbox: CliSandbox
beforeAll(async () => {
  sandbox = newSandbox()
  const run = await sandbox.call(['download', 'BTCUSDT', '-i', '1d', '--base-url', 'sample', '--mirror', 'm', '-q'])
  expect(run).toMatchObject({ code: 0, stderr: '' })
})

describe.skipIf(!existsSync('/proc/self'))(
  'a folder where none can be made (needs /proc)',
  { concurrent: true },
  () => {
    it.each([
      [
        'for the mirror',
        `download BTCUSDT -i 1d --base-url sample --mirror ${NOWHERE}`,
        {},
        3,
        /^klines: Cannot write the mirror \/proc\/klines-test: .*\n {2}.*--mirror\.\n$/,
      ],
      [
        'for a file',
        `export BTCUSDT -i 1d --mirror m -q -o ${NOWHERE}/y/z.csv`,
        {},
        2,
        /^klines: Cannot write \/proc\/klines-test\/y\/z\.csv: (?!.*mkdir)/,
      ],
    ] as [string, string, Record<string, string>, number, RegExp][])(
      '%s is an error, and no endless wait',
      async (_, command, env, code, message) => {
        // A native loop does not end on SIGTERM.
        const run = await sandbox.shell(`timeout -s KILL 20 klines ${command}`, env)
        expect(run).toMatchObject({ code, stdout: '' })
        expect(run.stderr).toMatch(message)
      },
    )
  },
)

describe.concurrent('a working folder that was removed', () => {
  it.each(['new/x.csv'])('is named as the reason why -o %s cannot be written', async output => {
    const mirror = sandbox.path('m')
    const script = `mkdir gone-$$; cd gone-$$; rmdir ../gone-$$; klines export BTCUSDT -i 1d --mirror ${mirror} -q -o ${output}`
    const run = await sandbox.shell(script)
    expect(run).toMatchObject({ code: 2, stdout: '' })
    expect(run.stderr).toMatch(/^klines: Cannot write new\/x\.csv: the folder does not exist \(ENOENT\)\.$/m)
    expect(run.stderr).not.toContain('mkdir')
  })
})
