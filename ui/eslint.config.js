import hooks from "eslint-plugin-react-hooks";
import tseslint from "typescript-eslint";

export default tseslint.config(
  { ignores: ["node_modules", "src/api/schema.d.ts", "public", "eslint.config.js"] },
  ...tseslint.configs.strictTypeChecked,
  hooks.configs.flat["recommended-latest"],
  {
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      // A handler may start something and leave: what fails is told by the action itself.
      "@typescript-eslint/no-misused-promises": ["error", { checksVoidReturn: false }],
      "@typescript-eslint/no-confusing-void-expression": ["error", { ignoreArrowShorthand: true }],
      "@typescript-eslint/restrict-template-expressions": ["error", { allowNumber: true }],
      // TanStack Virtual's answers are not memoisable, as its own documentation says; the compiler is not used here.
      "react-hooks/incompatible-library": "off",
      // The router takes redirects as thrown values, and means it.
      "@typescript-eslint/only-throw-error": "off",
    },
  },
);
