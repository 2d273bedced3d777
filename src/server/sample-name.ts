/** What people write instead of a base address, and the name the sample's mirror and files carry. */
export const SAMPLE = 'sample'
