/**
 * A whole number that is another each time, as text. The engine keeps the text of each number that it has written, so a count in
 * each answer would fill the part of its memory that is seldom collected: the last three digits are written here.
 */
export function decimal(count: number): string {
  return count < 1000 ? String(count) : `${Math.floor(count / 1000)}${thousandths[count % 1000]}`
}

const thousandths = Array.from({ length: 1000 }, (_, digits) => String(digits).padStart(3, '0'))
