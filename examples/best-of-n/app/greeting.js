export const greeting = (name) => `Hello ${name}`;
