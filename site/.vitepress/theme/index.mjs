// The generator's own look, without its fonts: a reader's machine has good ones.
import theme from "vitepress/theme-without-fonts";
import "./style.css";

export default theme;
