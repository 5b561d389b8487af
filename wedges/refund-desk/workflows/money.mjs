/** Sums of money are kept to the cent, so adding them up never shows binary fractions. */
export const cents = (usd) => Math.round(usd * 100) / 100
