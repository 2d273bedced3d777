import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { Pool } from 'undici'
import type { Measured } from './row.js'
import { type Command, environment } from './timed-run.js'

/** A server of the slice in its own process. */
export interface ServedTree {
  readonly url: string
  end(): Promise<void>
}

/** Starts a server that prints its address as `{"url": ...}`. */
export async function startServed(command: Command): Promise<ServedTree> {
  const child = spawn(command.program, command.args, {
    cwd: tmpdir(),
    env: environment(command.env),
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const end = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return
    child.kill('SIGTERM')
    await once(child, 'exit')
  }
  let text = ''
  for await (const chunk of child.stdout) {
    text += chunk
    const [, url] = /"url": ?"([^"]+)"/.exec(text) ?? []
    if (url !== undefined) return { url, end }
  }
  throw new Error(`${command.args.join(' ')} exited before it printed its address`)
}

/** Requests each file of `root` once, one after the other over one connection. Returns files per second; throws on a wrong length. */
export async function fetchAll(url: string, root: string, files: readonly string[]): Promise<Measured> {
  const pool = new Pool(url, { connections: 1 })
  const started = performance.now()
  const lengths: number[] = []
  for (const file of files) {
    const { statusCode, body } = await pool.request({ method: 'GET', path: file.slice(root.length) })
    const { byteLength } = await body.arrayBuffer()
    lengths.push(statusCode === 200 ? byteLength : -1)
  }
  const value = (1000 * files.length) / (performance.now() - started)
  await pool.close()
  const wrong = files.find((file, index) => statSync(file).size !== lengths[index])
  if (wrong) throw new Error(`${url} did not serve all of ${wrong}`)
  return { value }
}
