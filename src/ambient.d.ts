/** What is used of WebAssembly: TypeScript has its types among those of browsers alone. */
declare namespace WebAssembly {
  class Module {
    constructor(bytes: Uint8Array)
  }
  class Instance {
    readonly exports: unknown
    constructor(module: Module, imports: Record<string, Record<string, unknown>>)
  }
  class Memory {
    readonly buffer: ArrayBuffer
    constructor(pages: { initial: number; maximum: number })
    /** Every view of the buffer is empty afterwards. */
    grow(pages: number): number
  }
}

// Types for single files of undici; the package types only its index.
declare module 'undici/lib/api/index.js' {
  const api: object
  export default api
}

declare module 'undici/lib/dispatcher/dispatcher.js' {
  export { Dispatcher as default } from 'undici'
}

declare module 'undici/lib/dispatcher/agent.js' {
  export { Agent as default } from 'undici'
}

declare module 'undici/lib/dispatcher/proxy-agent.js' {
  export { ProxyAgent as default } from 'undici'
}
