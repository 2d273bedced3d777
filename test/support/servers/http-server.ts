import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll } from 'vitest'
import { type ServerOptions, startServer } from '../../../src/server/server.js'
import { makeTree, NOW } from '../synthetic-tree.js'
import { type RawResponse, sendRaw } from './raw-client.js'

/** One server over the made tree for all tests of a group, spoken to in raw bytes. */
export function useHttpServer(options: Partial<ServerOptions> = {}) {
  const errors: Error[] = []
  const started = { root: '', url: '', close: async () => {} }
  beforeAll(async () => {
    const root = makeTree(mkdtempSync(join(tmpdir(), 'klines-http-')))
    started.root = root
    Object.assign(
      started,
      await startServer({ root, now: () => NOW, onError: error => void errors.push(error), ...options }),
    )
  })
  afterAll(async () => {
    await started.close()
    rmSync(started.root, { recursive: true, force: true })
  })
  return {
    root: () => started.root,
    /** What the server said of its own failures. */
    errors,
    url: () => started.url,
    close: () => started.close(),
    sendRaw: (bytes: string | Buffer, how?: { head?: boolean }): Promise<RawResponse> =>
      sendRaw(started.url, bytes, how),
  }
}

/** A user update that is right: its path, target and body. */
export const USER_PATH = '/api/users/123e4567-e89b-12d3-a456-426614174000'
export const USER_TARGET = `${USER_PATH}?notify=email`
export const USER = { email: 'a@example.com', profile: { name: 'A B', age: 30 } }
export const USER_BODY = JSON.stringify(USER)
