/** Rounds to cents, so that sums show no binary fractions. */
export const cents = (usd) => Math.round(usd * 100) / 100
