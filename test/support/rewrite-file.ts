import { writeFile } from '../../src/mirror/file-store.js'

/** Writes one file of a tree repeatedly, each time filled with another letter and of another length. */
const [root, path, times] = process.argv.slice(2)
for (let time = 0; time < Number(times); time++) {
  const letter = 97 + (time % 26)
  writeFile(root, path, Buffer.alloc(1_000 * (1 + (time % 26)), letter), 1_700_000_000_000 + time * 1_000)
}
