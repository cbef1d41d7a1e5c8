/** The first octets of a picture, by its media type. */
const signatures: Readonly<Record<string, readonly number[]>> = {
  'image/png': [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a],
  'image/jpeg': [0xff, 0xd8, 0xff],
}

/** Whether a file with these first octets can be a picture of this type. */
export const isPictureOf = (mediaType: string, start: Uint8Array): boolean =>
  signatures[mediaType]?.every((octet, at) => start[at] === octet) ?? false
