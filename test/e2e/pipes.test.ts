import { beforeAll, describe, expect, it } from 'vitest'
import { bigMirror } from '../support/big-mirror.js'
import { type CliSandbox, useSandboxes } from '../support/cli/cli-sandbox.js'

const newSandbox = useSandboxes()
const EXPORT = 'klines export BTCUSDT ETHUSDT -i 15m --to 2025-10 --mirror mirror'

/** Each starts the program, and some are alike: a third of them. */
const itPipes = it.concurrent

describe('stdout into a pipe', () => {
  let sandbox: CliSandbox
  beforeAll(async () => {
    sandbox = newSandbox()
    bigMirror(sandbox.path('mirror'), { symbols: ['BTCUSDT', 'ETHUSDT'], weeks: 40 })
    expect(await sandbox.call(`${EXPORT} -o whole.jsonl`.split(' ').slice(1))).toMatchObject({ code: 0, stderr: '' })
    expect(sandbox.bytes('whole.jsonl').length).toBeGreaterThan(10_000_000)
  })

  itPipes('a reader that stops ends it with exit code 0 and without a message', async () => {
    const run = await sandbox.shell(`set -o pipefail; ${EXPORT} -f jsonl -o - | head -1; echo "\${PIPESTATUS[@]}"`)
    const [line] = sandbox.text('whole.jsonl').split('\n', 1)
    expect(run).toMatchObject({ code: 0, stdout: `${line}\n0 0\n`, stderr: '' })
  })

  itPipes('a reader that reads nothing at all ends it too', async () => {
    const run = await sandbox.shell(`set -o pipefail; ${EXPORT} -f csv -o - | true; echo "\${PIPESTATUS[@]}"`)
    expect(run).toMatchObject({ code: 0, stdout: '0 0\n', stderr: '' })
  })

  itPipes('a reader that sleeps for 3 s before it reads gets every byte', async () => {
    // The pause is far longer than it takes to fill the pipe.
    const run = await sandbox.shell(`set -o pipefail; ${EXPORT} -f jsonl -o - | { sleep 3; cat; } | cmp - whole.jsonl`)
    expect(run).toMatchObject({ code: 0, stdout: '', stderr: '' })
    expect(run.tookMs).toBeGreaterThan(3000)
  })

  itPipes('an error in JSON into a closed pipe keeps its exit code', async () => {
    // The reader has ended before the command prints.
    const run = await sandbox.shell(
      `set -o pipefail; { sleep 0.1; klines export BTCUSDT -i 1d --mirror nowhere -o x.csv --json; } | true; echo "\${PIPESTATUS[@]}"`,
    )
    expect(run).toMatchObject({ stdout: '3 0\n', stderr: '' })
  })

  itPipes('a reader that stops reading does not keep an interrupted run alive', async () => {
    const run = await sandbox.shell(
      `mkfifo stalled; { head -c 100000 >/dev/null; : >stopped; exec sleep 60; } <stalled & reader=$!
      ${EXPORT} -f jsonl -o - >stalled & tool=$!
      until [ -e stopped ]; do sleep 0.1; done; kill -TERM $tool; wait $tool; echo $?; kill $reader`,
    )
    expect(run.stdout).toBe('143\n')
    expect(run.tookMs).toBeLessThan(50_000)
  })

  itPipes('a FIFO without a reader does not keep an interrupted run alive', async () => {
    const run = await sandbox.shell(`mkfifo unread.csv; timeout -k 30 2 ${EXPORT} -o unread.csv; echo $?`)
    // 137 for a command that had to be killed.
    expect(run.stdout).toBe('124\n')
  })

  itPipes('the reader of a FIFO gets every byte and the end', async () => {
    const run = await sandbox.shell(
      `mkfifo read.jsonl; cmp read.jsonl whole.jsonl & ${EXPORT} -o read.jsonl -q; wait $!; echo $?`,
    )
    expect(run).toMatchObject({ stdout: '0\n', stderr: '' })
  })

  itPipes('/dev/stdout is stdout', async () => {
    const run = await sandbox.shell(`set -o pipefail; ${EXPORT} -f jsonl -o /dev/stdout | cmp - whole.jsonl`)
    expect(run).toMatchObject({ code: 0, stdout: '', stderr: '' })
  })

  itPipes('a summary into a closed pipe is not an error', async () => {
    const run = await sandbox.shell(`set -o pipefail; klines mirror --mirror mirror | true; echo "\${PIPESTATUS[@]}"`)
    expect(run).toMatchObject({ stdout: '0 0\n', stderr: '' })
  })

  it.concurrent.each(['2>&-', '2>/dev/full', '2> >(true)'])(
    'a closed or full stderr (%s) is ignored',
    async redirection => {
      const run = await sandbox.shell(`set -o pipefail; ${EXPORT} -f jsonl -o - ${redirection} | cmp - whole.jsonl`)
      expect(run).toMatchObject({ code: 0, stdout: '' })
    },
  )

  it.concurrent.each(['2>&-', '2>/dev/full'])(
    'an error with a closed or full stderr (%s) keeps its exit code',
    async redirection => {
      expect(await sandbox.shell(`klines export XXXUSDT -i 1d ${redirection}`)).toMatchObject({ code: 2, stdout: '' })
    },
  )

  it.concurrent.each(['jsonl', 'parquet'])('%s onto a full disk is exit code 1 with a message', async format => {
    const run = await sandbox.shell(`${EXPORT} -q -f ${format} -o - > /dev/full`)
    expect(run.code).toBe(1)
    expect(run.stderr).toMatch(/stdout.*ENOSPC/)
    expect(run.stderr.trim().split('\n')).toHaveLength(1)
  })

  itPipes('a summary onto a full disk is exit code 1 with a message too', async () => {
    const run = await sandbox.shell('klines mirror --mirror mirror > /dev/full')
    expect(run.code).toBe(1)
    expect(run.stderr).toMatch(/^klines: .*stdout.*ENOSPC.*\n$/)
  })

  itPipes('a FIFO as -o gets the bytes and stays a FIFO', async () => {
    const script = `mkfifo fifo.jsonl && { cmp fifo.jsonl whole.jsonl & ${EXPORT} -q -o fifo.jsonl && wait $! && test -p fifo.jsonl; }`
    expect(await sandbox.shell(script)).toMatchObject({ code: 0, stdout: '', stderr: '' })
  })
})
