/** CJK radicals and the characters they stand for (Unicode, EquivalentUnifiedIdeograph.txt). */
const radicals =
  '⺁厂⺇几⺊卜⺌小⺎兀⺐尢⺒巳⺓幺⺕彐⺖忄⺘扌⺙攵⺛旡⺜日⺝月⺞歺⺟母⺠民⺡氵⺣灬⺦丬⺧牛⺨犭⺩王⺪疋⺫目⺬示⺭礻⺮竹⺯糹⺰纟⺲罒⺳网⺴网⺵网⺶羊⺷羊⺸羊⺹耂⺻聿⺼月⺽臼⺾艹⺿艹⻀艹⻁虎⻂衤⻃西⻄西⻅见⻆角⻇角⻈讠⻉贝⻊足⻋车⻌辶⻍辶⻎辶⻏阝⻐钅⻑長⻓长⻔门⻕阜⻖阝⻗雨⻘青⻙韦⻚页⻛风⻜飞⻝食⻞食⻟飠⻠饣⻡首⻢马⻣骨⻤鬼⻥鱼⻦鸟⻧卤⻨麦⻩黄⻪黾⻫斉⻬齐⻭歯⻮齿⻯竜⻰龙⻱龜⻲亀⻳龟';
/** Odd forms and the usual ones: radicals from the start, others as they are met. */
const ofOddForm = new Map(
  Array.from({ length: radicals.length / 2 }, (_, at) => [
    radicals.charAt(at * 2),
    radicals.charAt(at * 2 + 1),
  ]),
);
const oddForms = /[\u2e80-\u2fdf\uf900-\ufaff]/g;

/** A text with its radicals and compatibility characters as people type them; the rest stays. */
export const usualForms = (text: string): string =>
  text.replace(oddForms, (letter) => {
    const known = ofOddForm.get(letter) ?? letter.normalize('NFKC');
    ofOddForm.set(letter, known);
    return known;
  });
