import { startServer } from '../../../src/server/server.js'

/** Serves a tree in a process of its own: prints the address, then the memory it takes once garbage is gone, bytes, for every line it is sent. */
const [root] = process.argv.slice(2)
const server = await startServer({ root })
console.log(server.url)
process.stdin.on('data', () => {
  globalThis.gc?.()
  const { rss, arrayBuffers } = process.memoryUsage()
  console.log(JSON.stringify({ rss, buffers: arrayBuffers }))
})
process.stdin.on('end', () => void server.close())
