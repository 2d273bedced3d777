import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll } from 'vitest'
import { type ServerOptions, startServer } from '../../../src/server/server.js'
import { indexTree } from '../index-tree.js'
import { makeTree, NOW, RENDERED } from '../synthetic-tree.js'
import { type RawResponse, sendRaw } from './raw-client.js'

/** One server over a mirror of the synthetic tree for all tests of a group, and a client that sends raw bytes. */
export function useHttpServer(options: Partial<ServerOptions> = {}) {
  const errors: Error[] = []
  const server = { root: '', url: '', close: async () => {} }
  beforeAll(async () => {
    const root = indexTree(makeTree(mkdtempSync(join(tmpdir(), 'klines-http-'))), { rendered: RENDERED })
    server.root = root
    Object.assign(
      server,
      await startServer({ root, now: () => NOW, onError: error => void errors.push(error), ...options }),
    )
  })
  afterAll(async () => {
    await server.close()
    rmSync(server.root, { recursive: true, force: true })
  })
  return {
    root: () => server.root,
    /** Internal errors that the server reported. */
    errors,
    url: () => server.url,
    close: () => server.close(),
    sendRaw: (bytes: string | Buffer, options?: { head?: boolean }): Promise<RawResponse> =>
      sendRaw(server.url, bytes, options),
  }
}

/** A valid user update: its path, target and body. */
export const USER_PATH = '/api/users/123e4567-e89b-12d3-a456-426614174000'
export const USER_TARGET = `${USER_PATH}?notify=email`
export const USER = { email: 'a@example.com', profile: { name: 'A B', age: 30 } }
export const USER_BODY = JSON.stringify(USER)
