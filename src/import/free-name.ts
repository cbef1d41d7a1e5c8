/** The name itself, or with the first number from 2 that no other has. */
export function findFreeName(wish: string, isTaken: (name: string) => boolean): string {
  let name = wish
  for (let number = 2; isTaken(name); number++) name = `${wish}${number}`
  return name
}
