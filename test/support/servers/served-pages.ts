import { afterAll, beforeAll, onTestFinished } from 'vitest'
import { startServer } from '../../../dist/server/server.js'

/** Serves a folder from this process, as `klines serve` does, until the test ends; returns the address. */
export async function servePages(root: string): Promise<string> {
  const server = await startServer({ root })
  onTestFinished(() => server.close())
  return server.url
}

/** Serves a folder from this process for all tests of a group; returns a function that returns the address. */
export function usePages(root: () => string): () => string {
  let server: Awaited<ReturnType<typeof startServer>>
  beforeAll(async () => {
    server = await startServer({ root: root() })
  })
  afterAll(() => server?.close())
  return () => server.url
}
