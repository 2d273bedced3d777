import { beforeAll, describe, expect, it } from 'vitest'
import { bigMirror } from '../support/big-mirror.js'
import { type CliSandbox, useSandboxes } from '../support/cli/cli-sandbox.js'

const newSandbox = useSandboxes()
const EXPORT = 'klines export BTCUSDT ETHUSDT -i 15m --mirror mirror'

describe('stdout into a pipe', () => {
  let sandbox: CliSandbox
  beforeAll(async () => {
    sandbox = newSandbox()
    bigMirror(sandbox.path('mirror'), { symbols: ['BTCUSDT', 'ETHUSDT'], weeks: 6 })
    expect(await sandbox.call(`${EXPORT} -o whole.jsonl`.split(' ').slice(1))).toMatchObject({ code: 0, stderr: '' })
    expect(sandbox.bytes('whole.jsonl').length).toBeGreaterThan(1_500_000)
  })

  it.concurrent('a reader that stops ends it with exit code 0 and without a message', async () => {
    const run = await sandbox.shell(`set -o pipefail; ${EXPORT} -f jsonl -o - | head -1; echo "\${PIPESTATUS[@]}"`)
    const [line] = sandbox.text('whole.jsonl').split('\n', 1)
    expect(run).toMatchObject({ code: 0, stdout: `${line}\n0 0\n`, stderr: '' })
  })

  it.concurrent('a reader that sleeps for 3 s before it reads gets every byte', async () => {
    // The pause is far longer than it takes to fill the pipe.
    const run = await sandbox.shell(`set -o pipefail; ${EXPORT} -f jsonl -o - | { sleep 3; cat; } | cmp - whole.jsonl`)
    expect(run).toMatchObject({ code: 0, stdout: '', stderr: '' })
    expect(run.tookMs).toBeGreaterThan(3000)
  })

  it.concurrent('a reader that stops reading does not keep an interrupted run alive', async () => {
    const run = await sandbox.shell(
      `mkfifo stalled; { head -c 100000 >/dev/null; : >stopped; exec sleep 60; } <stalled & reader=$!
      ${EXPORT} -f jsonl -o - >stalled & tool=$!
      until [ -e stopped ]; do sleep 0.1; done; kill -TERM $tool; wait $tool; echo $?; kill $reader`,
    )
    expect(run.stdout).toBe('143\n')
    expect(run.tookMs).toBeLessThan(50_000)
  })

  it.concurrent.each(['2>&-', '2>/dev/full'])('a closed or full stderr (%s) is ignored', async redirection => {
    const run = await sandbox.shell(`set -o pipefail; ${EXPORT} -f jsonl -o - ${redirection} | cmp - whole.jsonl`)
    expect(run).toMatchObject({ code: 0, stdout: '' })
  })

  it.concurrent.each(['2>&-'])('an error with a closed or full stderr (%s) keeps its exit code', async redirection => {
    expect(await sandbox.shell(`klines export XXXUSDT -i 1d ${redirection}`)).toMatchObject({ code: 2, stdout: '' })
  })

  it.concurrent.each(['jsonl', 'parquet'])('%s onto a full disk is exit code 1 with a message', async format => {
    const run = await sandbox.shell(`${EXPORT} -q -f ${format} -o - > /dev/full`)
    expect(run.code).toBe(1)
    expect(run.stderr).toMatch(/stdout.*ENOSPC/)
    expect(run.stderr.trim().split('\n')).toHaveLength(1)
  })
})
