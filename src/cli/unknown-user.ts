// oclif asks the system for the user's home folder and shell, its libraries as soon as they are loaded, and fails for a user whom
// the system does not know, such as any number in a container. Nothing here uses the answers.
import { homedir, userInfo } from 'node:os'
import { NO_HOME } from '../fs/user-folder.js'

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
