// usage: serve-sirv.mjs ROOT: serves a folder with sirv in production mode, which lists the files once. Prints its address.
import { createServer } from 'node:http'
import sirv from 'sirv'

const files = sirv(process.argv[2], { etag: true })
const server = createServer((request, response) =>
  files(request, response, () => {
    response.writeHead(404).end()
  }),
)
server.listen(0, '127.0.0.1', () => console.log(JSON.stringify({ url: `http://127.0.0.1:${server.address().port}` })))
