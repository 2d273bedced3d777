import module, { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import { setFlagsFromString } from 'node:v8'

// From 22.1 on, Node can keep compiled code between runs.
module.enableCompileCache?.()
// Windows lie in buffers outside of the heap, which only a garbage collection frees. A small young generation is collected often,
// which keeps the memory of an export some 30 MB lower.
setFlagsFromString('--semi-space-growth-factor=1')

// A reader that stops reading (`| head`) is not a failure. Any other fault of stdout is one; a lost stderr is ignored.
process.stdout.on('error', error => {
  if (error.code === 'EPIPE') process.exit(process.exitCode ?? 0)
  process.stderr.write(`klines: Cannot write to stdout: ${error.message}\n`)
  // At once: oclif has a listener of its own, which would throw this error again.
  process.exit(1)
})
process.stderr.on('error', () => {})

// Commands report their own errors; what is caught here comes from finding a command. The process ends by itself, so that a
// slow reader gets every byte (oclif's own runner waits for ten seconds and then exits).
try {
  const require = createRequire(import.meta.url)
  const args = process.argv.slice(2)
  const flags = args.includes('--') ? args.slice(0, args.indexOf('--')) : args
  if (flags.includes('--version') || flags.includes('-V') || args[0] === 'version') {
    // As oclif writes it, without the 80 ms that it takes to load the commands.
    const { name, version } = require('../package.json')
    const [platform, node] = [`${process.platform}-${process.arch}`, process.versions.node]
    const object = `${JSON.stringify({ name, version, platform, node }, undefined, 2)}\n`
    process.stdout.write(flags.includes('--json') ? object : `${name}/${version} ${platform} node-v${node}\n`)
  } else if (args[0] === '__complete') {
    // The scripts of `klines completion` call this at each TAB.
    require('../dist/completion.cjs').printCompletion(args.slice(1))
  } else {
    const { run } = require('../dist/main.cjs')
    await run(args, { root: fileURLToPath(new URL('..', import.meta.url)) })
  }
} catch (error) {
  process.exitCode = error.oclif?.exit ?? 1
  const text = process.env.KLINES_DEBUG ? error.stack : [error.message, ...(error.suggestions ?? [])].join('\n  ')
  if (process.exitCode !== 0) process.stderr.write(`klines: ${text}\n`)
}
