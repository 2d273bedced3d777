// The used parts of undici, combined as its index does. The whole package, with fetch, WebSockets and caches, takes four times
// as long to load: 100 ms of every download. Its files may move in a minor version, so package.json pins the version.
import api from 'undici/lib/api/index.js'
import Agent from 'undici/lib/dispatcher/agent.js'
import Dispatcher from 'undici/lib/dispatcher/dispatcher.js'
import ProxyAgent from 'undici/lib/dispatcher/proxy-agent.js'

Object.assign(Dispatcher.prototype, api)

export { Agent, type Dispatcher, ProxyAgent }
