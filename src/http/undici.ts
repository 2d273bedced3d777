// What is used of undici, put together as its own index does. The whole of it, with fetch, WebSockets and caches, takes four
// times as long to load: 100 ms of every download. Its files may move in a minor version, so package.json names one.
import api from 'undici/lib/api/index.js'
import Agent from 'undici/lib/dispatcher/agent.js'
import Dispatcher from 'undici/lib/dispatcher/dispatcher.js'
import EnvHttpProxyAgent from 'undici/lib/dispatcher/env-http-proxy-agent.js'

Object.assign(Dispatcher.prototype, api)

export { Agent, type Dispatcher, EnvHttpProxyAgent }
