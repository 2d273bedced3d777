// usage: serve-fastify-static.mjs ROOT: serves a folder with fastify and @fastify/static by default. Prints its address.
import files from '@fastify/static'
import fastify from 'fastify'

const app = fastify()
await app.register(files, { root: process.argv[2] })
console.log(JSON.stringify({ url: await app.listen({ host: '127.0.0.1', port: 0 }) }))
