import { startServer } from '../../../src/server/server.js'

/** Serves a folder as this process's user; prints the address, then a line for each internal error. */
const [root, now] = process.argv.slice(2)
const onError = (error: Error) => console.log(`error ${error.message.replaceAll('\n', ' ')}`)
const server = await startServer({ root, now: () => Number(now), onError })
console.log(server.url)
// The parent has exited, or wants this process to end.
process.stdin.on('end', () => process.exit()).resume()
