export const modes = ['loop', 'call'] as const;
