/**
 * Words that people ask with and those that rules, contracts and manuals write instead. One line is
 * one matter; a word stands in one line alone, and no single letter, which is a part of too many. Words of everyday and of office life, each of which
 * replaces the others in a sentence; no words of a trade, which an owner's own texts know better.
 */
const lines = `
丢了 丢失 遗失 弄丢 掉了 遗落
坏了 损坏 故障 失灵 坏掉
迟到 晚到
早退 提前下班
旷工 缺勤 擅自离岗
请假 休假 告假
年假 年休假
产假 生育假
婚假 结婚假
丧假 奔丧
加班 延长工作时间 超时工作
下班 收工
上班 到岗 出勤
打卡 考勤 签到
离职 辞职 辞呈 解除劳动合同
开除 辞退 解雇 解聘
入职 报到 新员工
转正 试用期满
升职 晋升 提拔
工资 薪资 薪水 薪酬 劳动报酬
奖金 绩效奖 年终奖
涨工资 加薪 调薪
发工资 发薪 支付工资
社保 社会保险
公积金 住房公积金
员工 职工 雇员
老板 负责人 领导 主管
公司 单位 企业
工牌 工卡 胸牌 工作证
出差 差旅
报销 报账 核销
发票 票据
打车 出租车 网约车
飞机票 机票
火车票 车票
酒店 宾馆 旅馆 住宿
吃饭 用餐 就餐
食堂 餐厅 饭堂
请客 招待 宴请
停车 泊车
快递 快件 包裹 邮包
邮寄 寄送
运费 邮费 快递费
送货 配送 派送 发货
退货 退回商品
退款 退钱 退费
换货 调换 更换商品
保修 质保 三包
修理 维修 检修
多少钱 价格 价钱 费用 收费 售价
便宜 优惠 折扣 打折
免费 不收费 无需付费
付款 支付 缴费 付钱 交钱
押金 保证金
罚款 罚金 处罚
欠费 拖欠 逾期
购买 采购 购置
出售 销售
租赁 租用 承租
房租 租金
客户 顾客 用户
客服 客户服务
投诉 举报 申诉
赔偿 补偿 赔付
合同 协议 契约
签字 签名 签署
盖章 用印 加盖公章
过期 到期 失效
延期 推迟 顺延 延长
取消 撤销 作废
开始 起始 启动
结束 终止 截止
最晚 截止日期 最迟
多久 多长时间 几天 期限 之内 以内
电脑 计算机
手机 移动电话
网络 互联网
网址 链接 地址
账号 账户 帐号 帐户
密码 口令
登录 登陆 登入
退出 注销 登出
注册 开户 开通账号
忘记 忘了 遗忘
找回 重置
修改 更改 变更
删除 删掉 移除 清除
添加 增加 新增
上传 导入
下载 导出
打印 印制
复印 影印
备份 存档
安装 装上 部署
升级 更新
关闭 停用 禁用
打开 开启 启用
设置 配置 设定
办理 申请 申办
补办 补发 重新办理
领取 领用 申领
归还 交还 返还
借用 借阅
审批 批准 核准 审核
同意 准许 许可
禁止 不得 严禁 不允许 不准
必须 应当 务必
生病 患病 病假
医院 医疗机构
看病 就医 就诊
体检 健康检查
孩子 子女 小孩 儿童
老人 老年人
怀孕 孕期 妊娠
结婚 婚姻登记
身份证 居民身份证
开会 会议 召开
培训 学习 进修
考试 考核 测验
名字 姓名 名称
电话 联系电话 手机号
邮箱 电子邮箱 电子邮件
地方 地点 位置 场所
原因 理由 缘由
办法 方法 方式
步骤 流程 程序
规定 制度 规则 条例
注意 须知 注意事项
危险 风险 隐患
着火 火灾 失火
受伤 工伤 伤害
垃圾 废弃物
干净 清洁 卫生
充电 充电时间
没电 电量低 电量不足
死机 卡死 无响应
黑屏 不亮
声音 噪音 噪声
漏水 渗水
`;

/** Each word with the others of its line. */
const others = new Map<string, readonly string[]>();
for (const line of lines.trim().split('\n')) {
  const words = line.split(' ');
  for (const word of words)
    others.set(
      word,
      words.filter((other) => other !== word),
    );
}
const longest = Math.max(...Array.from(others.keys(), (word) => word.length));

export interface Meant {
  word: string;
  others: readonly string[];
}

/** The words of a text that have others for them, the longest where several begin at one letter. */
export const meantBy = (text: string): Meant[] => {
  const found: Meant[] = [];
  for (let at = 0; at < text.length;) {
    let step = 1;
    for (let size = Math.min(longest, text.length - at); size > 1; size -= 1) {
      const word = text.slice(at, at + size);
      const known = others.get(word);
      if (!known) continue;
      found.push({ word, others: known });
      step = size;
      break;
    }
    at += step;
  }
  return found;
};
