// usage: clean-up.mjs FOLDER: waits until the process that started it closes the pipe to it or ends. Then it ends every process
// whose temporary folder is FOLDER or lies in it, and removes that.
import { readdirSync, readFileSync, rmSync } from 'node:fs'

const [folder] = process.argv.slice(2)

/** The numbers of the processes that were started with the folder, or one in it, as their TMPDIR; none without /proc. */
function findRunning() {
  try {
    return readdirSync('/proc').filter(name => /^\d+$/.test(name) && isFolderOf(name))
  } catch {
    return []
  }
}

function isFolderOf(pid) {
  try {
    const settings = readFileSync(`/proc/${pid}/environ`, 'latin1').split('\0')
    return settings.some(setting => `${setting}/`.startsWith(`TMPDIR=${folder}/`))
  } catch {
    return false
  }
}

process.stdin.resume()
process.stdin.on('end', () => {
  // One that is ended may have started another.
  for (let running = findRunning(); running.length > 0; running = findRunning()) {
    for (const pid of running) {
      try {
        process.kill(Number(pid), 'SIGKILL')
      } catch {}
    }
  }
  rmSync(folder, { recursive: true, force: true, maxRetries: 10 })
})
