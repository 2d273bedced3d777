import { startServer } from '../../../src/server/server.js'

/** Serves a tree: prints the address, then, for every line on stdin, the memory in use after garbage collection, bytes. */
const [root] = process.argv.slice(2)
const server = await startServer({ root })
console.log(server.url)
process.stdin.on('data', () => {
  globalThis.gc?.()
  const { rss, arrayBuffers } = process.memoryUsage()
  console.log(JSON.stringify({ rss, buffers: arrayBuffers }))
})
process.stdin.on('end', () => void server.close())
