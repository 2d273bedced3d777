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
