import { createRequire } from 'node:module'
import type { Env } from './cli-sandbox.js'

const require = createRequire(import.meta.url)
/** Calls run one at a time: each has the folder, the environment and the streams of this process to itself. */
let queue: Promise<unknown> = Promise.resolve()

/** How far the clock of the running call is ahead of this machine's, ms. The program keeps this function when it is loaded. */
let shiftMs = 0
const { now } = Date
Date.now = () => now() + shiftMs

/** What a call printed, and its exit code. */
interface Call {
  readonly stdout: Buffer
  readonly stderr: Buffer
  readonly code: number
}

/** Runs the built program in this process, which saves the start of another. It cannot test signals, pipes or stdin. */
export function callInProcess(project: string, args: readonly string[], folder: string, env: Env): Promise<Call> {
  const result = queue.then(() => call(project, args, folder, env))
  queue = result.catch(() => {})
  return result
}

async function call(project: string, args: readonly string[], folder: string, env: Env): Promise<Call> {
  const before = { cwd: process.cwd(), env: { ...process.env }, exitCode: process.exitCode }
  const [stdout, stderr] = [capture(process.stdout), capture(process.stderr)]
  // The time zone of a process is fixed: the tests have an odd one.
  replaceEnv({ ...env, TZ: process.env.TZ ?? 'UTC' })
  process.chdir(folder)
  process.exitCode = undefined
  if (env.KLINES_TEST_NOW) shiftMs = Number(env.KLINES_TEST_NOW) - now()
  try {
    const { run } = require(`${project}/dist/main.cjs`)
    await run([...args], { root: project })
    return { stdout: stdout.bytes(), stderr: stderr.bytes(), code: Number(process.exitCode ?? 0) }
  } finally {
    shiftMs = 0
    process.exitCode = before.exitCode
    process.chdir(before.cwd)
    replaceEnv(before.env)
    stdout.restore()
    stderr.restore()
  }
}

function replaceEnv(env: NodeJS.ProcessEnv): void {
  for (const name of Object.keys(process.env)) if (!(name in env)) delete process.env[name]
  Object.assign(process.env, env)
}

/** Collects what is written to a stream. */
function capture(stream: NodeJS.WriteStream): { bytes(): Buffer; restore(): void } {
  const chunks: Buffer[] = []
  const { write } = stream
  stream.write = (chunk: string | Uint8Array, ...rest: unknown[]) => {
    chunks.push(Buffer.from(chunk as string))
    const callback = rest.find(argument => typeof argument === 'function')
    if (callback) process.nextTick(callback as () => void)
    return true
  }
  return {
    bytes: () => Buffer.concat(chunks),
    restore: () => {
      stream.write = write
    },
  }
}
