// oclif asks for the user's home folder and shell, some of its libraries already when they are loaded. Both calls throw for a user
// without an entry in the system, such as any number in a container. Nothing here uses the answers.
import { homedir, userInfo } from 'node:os'
import { NO_HOME } from '../fs/folders.js'

try {
  homedir()
} catch {
  process.env.HOME = NO_HOME
}
try {
  userInfo()
} catch {
  process.env.SHELL ??= ''
}
