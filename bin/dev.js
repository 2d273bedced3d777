#!/usr/bin/env node
// Runs the commands from the TypeScript sources, without a build.
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { register } from 'tsx/esm/api'

register()
const { run } = await import('../src/main.ts')
const root = fileURLToPath(new URL('..', import.meta.url))
const text = readFileSync(`${root}package.json`, 'utf8')
const pjson = JSON.parse(text.replaceAll(/\.\/dist\/(\w+)\.cjs/g, './src/$1.ts'))
await run(process.argv.slice(2), { root, pjson })
