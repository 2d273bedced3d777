import { connect, type Socket } from 'node:net'
import { rawRequest } from './raw-client.js'

/** Opens connections that never read, and sends one of `pipelines` over each: targets that are requested all at once. */
export async function flood(url: string, pipelines: readonly (readonly string[])[]): Promise<{ close(): void }> {
  const { hostname, port } = new URL(url)
  const sockets = await Promise.all(
    pipelines.map(
      targets =>
        new Promise<Socket>((resolve, reject) => {
          const socket = connect({ host: hostname, port: Number(port) })
          socket.on('error', reject).pause()
          socket.once('connect', () => {
            socket.write(Buffer.concat(targets.map(target => rawRequest(`GET /${target}`))))
            resolve(socket)
          })
        }),
    ),
  )
  const close = () => {
    for (const socket of sockets) socket.destroy()
  }
  return { close }
}
